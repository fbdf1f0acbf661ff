"""Know for a day from which network a session began, without its address."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0027_answers_in_the_order_of_their_browser'),
        ('studies', '0033_places_by_network'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='network',
            field=models.CharField(blank=True, db_default='', default='', help_text='From which network it began, as a digest whose key changes daily. Emptied after a day.', max_length=64),
        ),
        migrations.AlterField(
            model_name='entryevent',
            name='what',
            field=models.CharField(choices=[('missing', 'The link had no ids'), ('unfilled', 'The link still had its placeholders'), ('not_an_id', "The link's ids were none of the platform's"), ('other_person', "A session's link was opened with another person's id"), ('other_study', 'The link came from another study of the provider'), ('no_seat', 'Somebody came when nothing was left'), ('nothing_yet', 'Somebody came before anything was ready'), ('too_many', 'Too many new people came from one network at once'), ('network_full', 'One network held its share of the places'), ('refused', 'A rule of eligibility kept somebody out')], max_length=20),
        ),
        migrations.AddIndex(
            model_name='session',
            index=models.Index(condition=models.Q(('network', ''), _negated=True), fields=['study', 'network'], name='sessions_of_a_network'),
        ),
    ]
