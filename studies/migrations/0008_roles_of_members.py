from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0007_names_of_studies_end_with_their_line'),
    ]

    operations = [
        migrations.AlterField(
            model_name='membership',
            name='role',
            field=models.CharField(choices=[('owner', 'Owner'), ('editor', 'Editor'), ('viewer', 'Viewer')], default='editor', max_length=20),
        ),
    ]
