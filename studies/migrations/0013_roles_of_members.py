from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0012_questions_may_have_a_source'),
    ]

    operations = [
        migrations.AlterField(
            model_name='membership',
            name='role',
            field=models.CharField(choices=[('owner', 'Owner'), ('editor', 'Editor'), ('viewer', 'Viewer')], default='editor', max_length=20),
        ),
    ]
